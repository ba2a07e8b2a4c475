/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a zygote. The roots of an environment appear at their own paths, because venvs and prefixes
 * hold absolute paths; environment_find returns none that a sandbox would hide. */
#include "engine/host/layout.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "engine/host/layout_machine.h"
#include "engine/host/layout_programs.h"
#include "sandbox/procfs.h"
#include "sandbox/variables.h"

#define CACHE "/adder/cache"

/* Code runs as this id in the nested user namespace: see sandbox/namespaces.h. */
#define PASSWD                                                                                               \
  "root:x:0:0:root:/:/usr/sbin/nologin\n"                                                                    \
  "sandbox:x:65534:65534:sandbox:/tmp:/bin/sh\n"
#define GROUP                                                                                                \
  "root:x:0:\n"                                                                                              \
  "sandbox:x:65534:\n"

/* In every tree. */
static const struct plan_step common_steps[] = {
    {PLAN_TEXT, PASSWD, "/etc/passwd"},
    {PLAN_TEXT, GROUP, "/etc/group"},
    {PLAN_TEXT, "passwd: files\ngroup: files\nhosts: files dns\n", "/etc/nsswitch.conf"},
    {PLAN_COPY, "/etc/ld.so.cache", "/etc/ld.so.cache"},
    {PLAN_COPY, "/etc/localtime", "/etc/localtime"},
    {PLAN_BIND_MAYBE, "/etc/ssl/certs", "/etc/ssl/certs"},
    {PLAN_BIND_MAYBE, "/etc/pki/tls/certs", "/etc/pki/tls/certs"},
    {PLAN_DEVICE, "/dev/null", "/dev/null"},
    {PLAN_DEVICE, "/dev/zero", "/dev/zero"},
    {PLAN_DEVICE, "/dev/full", "/dev/full"},
    {PLAN_DEVICE, "/dev/random", "/dev/random"},
    {PLAN_DEVICE, "/dev/urandom", "/dev/urandom"},
    {PLAN_LINK, "/proc/self/fd", "/dev/fd"},
    {PLAN_LINK, "/proc/self/fd/0", "/dev/stdin"},
    {PLAN_LINK, "/proc/self/fd/1", "/dev/stdout"},
    {PLAN_LINK, "/proc/self/fd/2", "/dev/stderr"},
};

static const struct plan_step interpreter_steps[] = {
    {PLAN_BIND, "/usr", "/usr"},
    {PLAN_COPY, "/etc/mime.types", "/etc/mime.types"},
    {PLAN_COPY, "/etc/matplotlibrc", "/etc/matplotlibrc"},
    /* Debian's libblas.so.3 and similar are links through here. */
    {PLAN_TREE, "/etc/alternatives", "/etc/alternatives"},
    {PLAN_TREE, "/etc/fonts", "/etc/fonts"},
};

/* What shell programs read beside their libraries: locales, time zones, certificates, file types. */
static const struct plan_step shell_steps[] = {
    {PLAN_BIND_MAYBE, "/usr/lib/locale", "/usr/lib/locale"},
    {PLAN_BIND_MAYBE, "/usr/share/zoneinfo", "/usr/share/zoneinfo"},
    {PLAN_BIND_MAYBE, "/usr/share/ca-certificates", "/usr/share/ca-certificates"},
    {PLAN_BIND_MAYBE, "/usr/lib/file", "/usr/lib/file"},
    {PLAN_BIND_MAYBE, "/usr/share/file", "/usr/share/file"},
    {PLAN_BIND_MAYBE, "/usr/share/misc", "/usr/share/misc"},
    {PLAN_COPY, "/etc/magic", "/etc/magic"},
    {PLAN_COPY, "/etc/ssl/openssl.cnf", "/etc/ssl/openssl.cnf"},
};

/* How names are resolved, by the network of a zygote's sandboxes. */
static const struct plan_step name_steps[NETWORKS][2] = {
    [NETWORK_NONE] = {{PLAN_TEXT, "127.0.0.1 localhost adder\n::1 localhost adder\n", "/etc/hosts"}},
    [NETWORK_FULL] = {{PLAN_COPY, "/etc/hosts", "/etc/hosts"},
                      {PLAN_COPY, "/etc/resolv.conf", "/etc/resolv.conf"}},
};

/* Links into /usr on merged systems, directories of their own on others. */
static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* ---- adding ---- */

static const char *
layout_keep (struct layout *layout, char *text)
{
  g_ptr_array_add (layout->strings, text);
  return text;
}

static void
add_step (struct layout *layout, enum plan_kind kind, const char *source, const char *target)
{
  struct plan_step step = {kind, source, target};
  g_array_append_val (layout->steps, step);
}

/* A shell's programs are in one place, and its libraries come one by one. */
static void
add_merged (struct layout *layout, gboolean shell)
{
  for (gsize i = 0; i < G_N_ELEMENTS (merged); i++) {
    g_autofree char *link = g_file_read_link (merged[i], NULL);
    if (link)
      add_step (layout, PLAN_LINK, layout_keep (layout, g_steal_pointer (&link)), merged[i]);
    else if (!shell)
      add_step (layout, PLAN_BIND_MAYBE, merged[i], merged[i]);
    else if (strcmp (merged[i], "/bin") == 0)
      add_step (layout, PLAN_LINK, "usr/bin", merged[i]);
  }
}

/* Debian's Pythons link to a module in /etc that customizes the host's own interpreter. Sandboxes must not
 * get that, and a dangling link breaks tools that copy or walk the library: use an empty module. */
static void
add_site_modules (struct layout *layout)
{
  g_autoptr (GDir) libraries = g_dir_open ("/usr/lib", 0, NULL);
  for (const char *name; libraries && (name = g_dir_read_name (libraries));) {
    if (!g_str_has_prefix (name, "python3"))
      continue;
    g_autofree char *path = g_build_filename ("/usr/lib", name, "sitecustomize.py", NULL);
    g_autofree char *target = g_file_read_link (path, NULL);
    if (target && g_str_has_prefix (target, "/etc/python"))
      add_step (layout, PLAN_TEXT, "", layout_keep (layout, g_steal_pointer (&target)));
  }
}

static gboolean
layout_is_below (const char *path, const char *directory)
{
  gsize length = strlen (directory);
  return strncmp (path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Instead of chosen parts: everything at the host's root, except what a sandbox has of its own. */
static void
add_whole_host (struct layout *layout)
{
  static const char *const own[] = {"proc", "tmp", "work", "workspace", "adder", NULL};
  g_autoptr (GDir) top = g_dir_open ("/", 0, NULL);
  for (const char *name; top && (name = g_dir_read_name (top));) {
    g_autofree char *path = g_strconcat ("/", name, NULL);
    if (!g_strv_contains (own, name) && g_file_test (path, G_FILE_TEST_IS_DIR) &&
        !g_file_test (path, G_FILE_TEST_IS_SYMLINK)) {
      const char *kept = layout_keep (layout, g_steal_pointer (&path));
      add_step (layout, PLAN_BIND_MAYBE, kept, kept);
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS (common_steps); i++)
    if (common_steps[i].kind == PLAN_DEVICE)
      g_array_append_val (layout->steps, common_steps[i]);
}

/* As checked when the environment was found. A link elsewhere may have replaced it since, by code whose work
 * directory contains its caller's own environment. */
static gboolean
is_looked_at (const struct environment *environment, const char *path)
{
  for (guint i = 0; environment->trees[i]; i++)
    if (layout_is_below (path, environment->trees[i]))
      return TRUE;
  return FALSE;
}

static void
add_roots (struct layout *layout, const struct environment *environment)
{
  for (guint i = 0; environment->roots && environment->roots[i]; i++) {
    const char *root = layout_keep (layout, g_strdup (environment->roots[i]));
    if (layout_is_below (root, "/usr"))
      continue;
    g_autofree char *real = realpath (root, NULL);
    if (real && is_looked_at (environment, real))
      add_step (layout, PLAN_BIND_REAL, layout_keep (layout, g_steal_pointer (&real)), root);
  }
}

static void
add_variable (struct layout *layout, char *text)
{
  g_ptr_array_add (layout->variables, (gpointer)layout_keep (layout, text));
}

static void
add_table (struct layout *layout, const char *const *variables)
{
  for (; *variables; variables++)
    g_ptr_array_add (layout->variables, (gpointer)(guintptr)*variables);
}

static void
layout_add_variables (struct layout *layout, const struct host *host, const struct environment *environment,
                      enum isolation isolation)
{
  gboolean own_tree = isolation == ISOLATION_NAMESPACES;
  g_autofree char *bin = g_path_get_dirname (environment->python);
  gboolean system =
      environment->shell || strcmp (bin, "/usr/bin") == 0 || strcmp (bin, "/usr/local/bin") == 0;
  const char *home = own_tree ? "/tmp" : scratch_home (host->scratch);
  add_variable (layout, g_strdup_printf ("PATH=%s%s/usr/local/bin:/usr/bin:/bin", system ? "" : bin,
                                         system ? "" : ":"));
  add_variable (layout, g_strconcat ("HOME=", home, NULL));
  if (!own_tree)
    add_variable (layout, g_strconcat ("TMPDIR=", home, NULL));
  add_table (layout, variables_common);
  if (!environment->shell)
    add_table (layout, variables_interpreter);
  if (environment->cache)
    add_variable (layout, g_strconcat ("MPLCONFIGDIR=", own_tree ? CACHE : environment->cache, NULL));
  if (layer_is_disabled (LAYER_ENVIRONMENT))
    for (char **variable = environ; *variable; variable++)
      g_ptr_array_add (layout->variables, *variable);
  else if (disable_layers_variable ())
    g_ptr_array_add (layout->variables, (gpointer)(guintptr)disable_layers_variable ());
  g_ptr_array_add (layout->variables, NULL);
}

/* -I: ignores the host's and the user's Python settings. -B: its files are read-only. */
static void
layout_add_program (struct layout *layout, const struct environment *environment, const char *runner,
                    enum isolation isolation, gboolean bare)
{
  gboolean loads = environment->modules && !bare;
  char *modules = loads ? g_strjoinv (",", environment->modules) : g_strdup ("");
  const char *const words[] = {layout_keep (layout, g_strdup (environment->python)),
                               "-I",
                               "-B",
                               layout_keep (layout, g_build_filename (runner, "zygote.py", NULL)),
                               "--environment",
                               layout_keep (layout, g_strdup (environment->name)),
                               "--modules",
                               layout_keep (layout, modules),
                               "--isolation",
                               isolation_names[isolation]};
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    g_ptr_array_add (layout->program, (gpointer)(guintptr)words[i]);
}

static void
add_argument (struct layout *layout, const char *option, const char *value)
{
  g_ptr_array_add (layout->program, (gpointer)(guintptr)option);
  g_ptr_array_add (layout->program, (gpointer)(guintptr)value);
}

/* The zygote of shells, and each program with its dependencies. Without a tree, they are at the host's own
 * places. */
static void
add_shell (struct layout *layout, const struct host *host, const struct environment *environment,
           enum isolation isolation)
{
  gboolean own_tree = isolation == ISOLATION_NAMESPACES;
  const char *zygote = layout_keep (layout, g_build_filename (host->libexec, LAYOUT_SHELL, NULL));
  g_autoptr (GPtrArray) files = layout_programs (zygote);
  g_ptr_array_add (layout->program, (gpointer)(guintptr)(own_tree ? LAYOUT_RUNNER "/" LAYOUT_SHELL : zygote));
  add_argument (layout, "--isolation", isolation_names[isolation]);
  add_argument (layout, "--shell",
                own_tree ? "/bin/sh" : layout_keep (layout, g_strdup (environment->python)));
  for (guint i = 0; i < files->len; i++) {
    const struct layout_file *file = files->pdata[i];
    const char *source = layout_keep (layout, g_strdup (file->source));
    const char *target = layout_keep (layout, g_strdup (file->target));
    add_step (layout, PLAN_BIND, source, target);
    if (file->runnable)
      add_argument (layout, "--runnable", own_tree ? target : source);
  }
  add_step (layout, PLAN_BIND, zygote, LAYOUT_RUNNER "/" LAYOUT_SHELL);
  g_array_append_vals (layout->steps, shell_steps, G_N_ELEMENTS (shell_steps));
}

/* What the tree would expose of the host. */
static void
add_readable (struct layout *layout)
{
  for (guint i = 0; i < layout->steps->len; i++) {
    const struct plan_step *step = &g_array_index (layout->steps, struct plan_step, i);
    switch (step->kind) {
    case PLAN_BIND:
    case PLAN_BIND_MAYBE:
    case PLAN_BIND_REAL:
    case PLAN_COPY:
    case PLAN_TREE:
      add_argument (layout, "--readable", step->source);
      break;
    default:
      break;
    }
  }
}

/* ---- the whole ---- */

struct layout *
layout_new (const struct host *host, const struct environment *environment, enum isolation isolation,
            enum network network, gboolean bare)
{
  gboolean own_tree = isolation == ISOLATION_NAMESPACES;
  struct layout *layout = g_new0 (struct layout, 1);
  layout->steps = g_array_new (FALSE, FALSE, sizeof (struct plan_step));
  layout->variables = g_ptr_array_new ();
  layout->program = g_ptr_array_new ();
  layout->strings = g_ptr_array_new_with_free_func (g_free);

  if (layer_is_disabled (LAYER_TREE)) {
    add_whole_host (layout);
  } else {
    if (!environment->shell) {
      g_array_append_vals (layout->steps, interpreter_steps, G_N_ELEMENTS (interpreter_steps));
      add_site_modules (layout);
    }
    g_array_append_vals (layout->steps, common_steps, G_N_ELEMENTS (common_steps));
  }
  for (gsize i = 0; i < G_N_ELEMENTS (name_steps[network]) && !layer_is_disabled (LAYER_TREE); i++)
    if (name_steps[network][i].target)
      g_array_append_val (layout->steps, name_steps[network][i]);
  if (own_tree) {
    add_step (layout, PLAN_TEXT, layout_keep (layout, layout_stat (host->cpus)), "/" PROCFS_STAT);
    add_step (layout, PLAN_TEXT, layout_keep (layout, layout_cpuinfo (host->cpus)), "/" PROCFS_CPUINFO);
  }
  add_merged (layout, environment->shell);
  if (!layer_is_disabled (LAYER_TREE))
    add_roots (layout, environment);
  if (!environment->shell)
    add_step (layout, PLAN_BIND, layout_keep (layout, g_strdup (host->libexec)), LAYOUT_RUNNER);
  if (environment->cache)
    add_step (layout, PLAN_BIND_MAYBE, layout_keep (layout, g_strdup (environment->cache)), CACHE);
  layout_add_variables (layout, host, environment, isolation);
  if (environment->shell)
    add_shell (layout, host, environment, isolation);
  else
    layout_add_program (layout, environment, own_tree ? LAYOUT_RUNNER : host->libexec, isolation, bare);
  if (!own_tree)
    add_readable (layout);
  g_ptr_array_add (layout->program, NULL);

  layout->plan = (struct plan){
      .isolation = isolation,
      .network = network,
      .host_uid = host->owner.uid,
      .host_gid = host->owner.gid,
      .steps = (struct plan_step *)(void *)layout->steps->data,
      .step_count = own_tree ? layout->steps->len : 0,
      .environment = (const char **)layout->variables->pdata,
      .program = (const char **)layout->program->pdata,
  };
  return layout;
}

void
layout_free (struct layout *layout)
{
  if (!layout)
    return;
  g_array_unref (layout->steps);
  g_ptr_array_unref (layout->variables);
  g_ptr_array_unref (layout->program);
  g_ptr_array_unref (layout->strings);
  g_free (layout);
}
