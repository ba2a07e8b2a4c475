/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a module: never unloaded, since its library may have thread-local state. */
#include "common/module.h"

#include <dlfcn.h>

#include "adder_types.h"
#include "common/paths.h"

const void *
module_load (const char *name, const char *symbol, GError **error)
{
  g_autofree char *folder = paths_libexec_dir (error);
  if (!folder)
    return NULL;
  g_autofree char *file = g_strconcat (name, ".so", NULL);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  void *module = dlopen (path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const void *object = module ? dlsym (module, symbol) : NULL;
  if (!object) {
    const char *reason = dlerror ();
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
        "cannot load %s, which adder.conf asks for: %s (is it installed, and the libraries that it needs?)",
        name, reason ? reason : "the system does not say why");
  }
  return object;
}
