/* SPDX-License-Identifier: Apache-2.0 */
/* A build is known by its process: the candidate image and the container in which it is tried have the id of
 * it in their names, so that the next build finds what one that was killed has left. */
#include "containers/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "build-config.h"
#include "common/command.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "common/text.h"
#include "containers/labels.h"
#include "runner/wire.h"

#define MINUTE_MS  (60 * 1000)
#define GATHER_MS  (60 * MINUTE_MS)
#define IMPORT_MS  (15 * MINUTE_MS)
#define BASE_MS    (60 * MINUTE_MS)
#define TRIAL_MS   (3 * MINUTE_MS)
#define ANSWER_MS  MINUTE_MS
#define LINE_BYTES 200

#define CANDIDATE  "localhost/adder-candidate"
#define TRIAL      "adder-trial-"

/* Those of the science environment, for the same reasons (environments/science/environment.conf). */
#define MODULES "numpy,pandas,matplotlib.pyplot"

struct build {
  struct container_client *client;
  const struct container_recipe *recipe;
  FILE *progress;
  char *libexec, *cache;
  char *candidate; /* the image's name until it was tried */
};

static void G_GNUC_PRINTF (2, 3) image_build_tell (const struct build *build, const char *format, ...)
{
  if (!build->progress)
    return;
  va_list arguments;
  va_start (arguments, format);
  vfprintf (build->progress, format, arguments);
  va_end (arguments);
  fputc ('\n', build->progress);
  fflush (build->progress);
}

/* A request whose path is PATH with what FORMAT makes of it; its answer is of no interest. */
static gboolean G_GNUC_PRINTF (4, 6)
    image_build_ask (const struct build *build, const char *method, guint64 timeout_ms, const char *format,
                     GError **error, ...)
{
  va_list arguments;
  va_start (arguments, error);
  g_autofree char *path = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return container_client_call (build->client, method, path, NULL, timeout_ms, NULL, error);
}

/* ---- what earlier builds left ---- */

/* Whether NAME is PREFIX and the id of a process that has ended. */
static gboolean
is_left_over (const char *name, const char *prefix)
{
  if (!g_str_has_prefix (name, prefix))
    return FALSE;
  guint64 pid;
  return g_ascii_string_to_unsigned (name + strlen (prefix), 10, 1, G_MAXINT, &pid, NULL) &&
         kill ((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void
remove_left_trials (const struct build *build)
{
  g_autoptr (json_t) containers = NULL;
  g_autofree char *filters = g_uri_escape_string ("{\"name\":[\"" TRIAL "\"]}", NULL, FALSE);
  g_autofree char *path = g_strconcat ("/containers/json?all=1&filters=", filters, NULL);
  if (!container_client_call (build->client, "GET", path, NULL, ANSWER_MS, &containers, NULL))
    return;
  gsize i;
  json_t *container;
  json_array_foreach (containers, i, container)
  {
    const char *name = json_string_value (json_array_get (json_object_get (container, "Names"), 0));
    const char *bare = name && name[0] == '/' ? name + 1 : name;
    if (bare && is_left_over (bare, TRIAL))
      image_build_ask (build, "DELETE", ANSWER_MS, "/containers/%s?force=1", NULL, bare);
  }
}

static void
remove_left_candidates (const struct build *build)
{
  GPtrArray *images = container_image_list (build->client, NULL);
  for (guint i = 0; images && i < images->len; i++) {
    const struct container_image *image = g_ptr_array_index (images, i);
    if (is_left_over (image->name, CANDIDATE ":"))
      image_build_ask (build, "DELETE", ANSWER_MS, "/images/%s", NULL, image->name);
  }
  g_clear_pointer (&images, g_ptr_array_unref);
}

/* ---- what goes in ---- */

struct listener {
  const struct build *build;
  char *trouble; /* the last line that says what went wrong */
};

static void
image_build_hear_line (const char *line, gboolean from_stderr, gpointer data)
{
  struct listener *listener = data;
  g_autofree char *shown = text_one_line (line, LINE_BYTES);
  if (!from_stderr) {
    image_build_tell (listener->build, "%s", shown);
  } else if (shown[0] != '\0') {
    g_free (listener->trouble);
    listener->trouble = g_steal_pointer (&shown);
  }
}

/* Has the script make CACHE/image.tar, and opens it; nobody else needs it then. -1 with ERROR. */
static int
image_build_gather (const struct build *build, GError **error)
{
  const struct container_recipe *recipe = build->recipe;
  g_autofree char *data = paths_data_dir (error);
  if (!data)
    return -1;
  g_autofree char *script = g_build_filename (data, "container", "build-image", NULL);
  const char *mode = recipe->base ? "base" : recipe->fresh ? "fresh" : recipe->cached ? "cached" : "daily";
  const char *const argv[] = {"/bin/sh", script, build->cache, build->libexec, mode, NULL};
  struct listener listener = {.build = build};
  const struct command command = {
      .argv = argv, .timeout_ms = GATHER_MS, .line = image_build_hear_line, .data = &listener};
  int status = 0;
  gboolean ran = command_run (&command, &status, error);
  g_autofree char *trouble = listener.trouble;
  if (!ran)
    return -1;
  if (status != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot put the image together: %s",
                 trouble ? trouble : "it ended without a word");
    return -1;
  }
  g_autofree char *path = g_build_filename (build->cache, "image.tar", NULL);
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot open %s", path);
    return -1;
  }
  unlink (path);
  return fd_steal (&fd);
}

/* When the packages were fetched, as the script has it; now where that was this minute. The caller's. */
static char *
built_at (const struct build *build)
{
  g_autofree char *path = g_build_filename (build->cache, "tree/usr/share/adder/built", NULL);
  char *text = NULL;
  if (!build->recipe->base && g_file_get_contents (path, &text, NULL, NULL))
    return g_strstrip (text);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  return g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
}

static json_t *
make_labels (const struct build *build, GError **error)
{
  g_autofree char *runner = container_image_runner_digest (build->libexec, error);
  if (!runner)
    return NULL;
  g_autofree char *built = built_at (build);
  return json_pack ("{s:s, s:s, s:s, s:s}", LABEL_VERSION, ADDER_VERSION, LABEL_RUNNER, runner, LABEL_BUILT,
                    built, LABEL_MODULES, MODULES);
}

/* ---- into the engine ---- */

/* What a build says, without the ids of what is made on the way. */
static gboolean
hear_engine (gpointer data, json_t *progress, GError **error)
{
  (void)error;
  const struct build *build = data;
  g_auto (GStrv) lines = g_strsplit (json_member_text (progress, "stream"), "\n", -1);
  for (gsize i = 0; lines[i]; i++) {
    g_autofree char *shown = text_one_line (g_strstrip (lines[i]), LINE_BYTES);
    if (shown[0] != '\0' && !g_str_has_prefix (shown, "--->"))
      image_build_tell (build, "  %s", shown);
  }
  return TRUE;
}

/* The path of a request with PARAMETERS, name and value by turns until NULL. The caller's. */
static char *
path_with (const char *path, const char *const *parameters)
{
  GString *whole = g_string_new (path);
  for (gsize i = 0; parameters[i]; i += 2) {
    g_string_append_printf (whole, "%c%s=", i == 0 ? '?' : '&', parameters[i]);
    g_string_append_uri_escaped (whole, parameters[i + 1], NULL, FALSE);
  }
  return g_string_free (whole, FALSE);
}

static char *
import_path (const struct build *build, const json_t *labels)
{
  const char *const parameters[] = {"fromSrc", "-", "repo", build->candidate, NULL};
  g_autofree char *first = path_with ("/images/create", parameters);
  GString *path = g_string_new (first);
  const char *name;
  const json_t *value;
  json_object_foreach ((json_t *)labels, name, value)
  {
    /* Each by itself: of several in one line Podman makes one, with the others in its value. */
    g_autofree char *change = g_strdup_printf ("LABEL %s=%s", name, json_string_value (value));
    g_string_append (path, "&changes=");
    g_string_append_uri_escaped (path, change, NULL, FALSE);
  }
  return g_string_free (path, FALSE);
}

/* What says where packages come from goes along. */
static char *
base_path (const struct build *build, const json_t *labels)
{
  static const char *const handed_on[] = {"http_proxy",    "https_proxy",         "no_proxy",
                                          "HTTP_PROXY",    "HTTPS_PROXY",         "NO_PROXY",
                                          "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"};
  g_autoptr (json_t) arguments = json_pack ("{s:s}", "BASE", build->recipe->base);
  for (gsize i = 0; i < G_N_ELEMENTS (handed_on); i++)
    if (g_getenv (handed_on[i]))
      json_object_set_new (arguments, handed_on[i], json_text_or_null (g_getenv (handed_on[i])));
  g_autofree char *arguments_text = json_to_text (arguments);
  g_autofree char *labels_text = json_to_text (labels);
  /* The host's network, which is the one that is known to reach an index. */
  const char *const parameters[] = {"t",         build->candidate, "buildargs", arguments_text, "labels",
                                    labels_text, "networkmode",    "host",      "forcerm",      "1",
                                    NULL};
  return path_with ("/build", parameters);
}

static gboolean
image_build_hand_over (const struct build *build, int archive_fd, GError **error)
{
  g_autoptr (json_t) labels = make_labels (build, error);
  if (!labels)
    return FALSE;
  const char *base = build->recipe->base;
  g_autofree char *path = base ? base_path (build, labels) : import_path (build, labels);
  image_build_tell (build, base ? "%s builds from %s" : "%s imports", container_client_name (build->client),
                    base);
  if (container_client_send (build->client, path, "application/x-tar", archive_fd, base ? BASE_MS : IMPORT_MS,
                             hear_engine, (gpointer)build, error))
    return TRUE;
  g_prefix_error (error, "%s cannot take the image in: ", container_client_name (build->client));
  return FALSE;
}

/* ---- the trial ---- */

/* With a terminal, its output comes without frames. The limits are said because those that Podman would take
 * may be above what a host allows even its root; and it takes no ids for a tmpfs, but gives it to the user.
 */
static json_t *
trial_order (const struct build *build)
{
  gboolean is_podman = container_client_is_podman (build->client);
  const char *tmpfs = is_podman ? "mode=0755,U,notmpcopyup" : "mode=0755,uid=65530,gid=65530";
  json_t *host = json_pack (
      "{s:s, s:b, s:[s], s:[s], s:{s:s}, s:{s:s}, s:[{s:s, s:i, s:i}, {s:s, s:i, s:i}]}", "NetworkMode",
      "none", "ReadonlyRootfs", 1, "CapDrop", "ALL", "SecurityOpt", "no-new-privileges", "Tmpfs",
      WIRE_WORKSPACE_PATH, tmpfs, "LogConfig", "Type", "json-file", "Ulimits", "Name", "nofile", "Soft", 1024,
      "Hard", 1024, "Name", "nproc", "Soft", 1024, "Hard", 1024);
  return json_pack ("{s:s, s:[s,s,s,s], s:[s,s,s], s:s, s:b, s:o}", "Image", build->candidate, "Cmd",
                    "python3", "-I", "-B", "/usr/share/adder/trial.py", "Env",
                    "MPLCONFIGDIR=/usr/share/adder/cache", "HOME=/tmp", "OPENBLAS_NUM_THREADS=1", "User",
                    "65530:65530", "Tty", 1, "HostConfig", host);
}

/* What the trial NAME said was missing. The caller's. */
static char *
trial_words (const struct build *build, const char *name)
{
  g_autofree char *path = g_strdup_printf ("/containers/%s/logs?stdout=1", name);
  g_autoptr (json_t) words = NULL;
  container_client_call (build->client, "GET", path, NULL, ANSWER_MS, &words, NULL);
  return text_one_line (json_is_string (words) ? json_string_value (words) : "it does not say why",
                        LINE_BYTES);
}

static gboolean
run_trial (const struct build *build, const char *name, GError **error)
{
  g_autoptr (json_t) order = trial_order (build);
  g_autoptr (json_t) answer = NULL;
  g_autofree char *create = g_strconcat ("/containers/create?name=", name, NULL);
  g_autofree char *wait = g_strdup_printf ("/containers/%s/wait", name);
  if (!container_client_call (build->client, "POST", create, order, ANSWER_MS, NULL, error) ||
      !image_build_ask (build, "POST", ANSWER_MS, "/containers/%s/start", error, name) ||
      !container_client_call (build->client, "POST", wait, NULL, TRIAL_MS, &answer, error))
    return FALSE;
  if (json_integer_value (json_object_get (answer, "StatusCode")) == 0)
    return TRUE;
  g_autofree char *words = trial_words (build, name);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "%s", words);
  return FALSE;
}

static gboolean
try_candidate (const struct build *build, GError **error)
{
  image_build_tell (build, "trying it");
  g_autofree char *name = g_strdup_printf (TRIAL "%d", (int)getpid ());
  gboolean good = run_trial (build, name, error);
  image_build_ask (build, "DELETE", ANSWER_MS, "/containers/%s?force=1", NULL, name);
  if (!good)
    g_prefix_error (error, "the new image does not work: ");
  return good;
}

/* ---- the name ---- */

/* Splits "host:5000/name:tag" before the tag, or says "latest". */
static const char *
split_name (char *name)
{
  char *slash = strrchr (name, '/');
  char *colon = strrchr (slash ? slash : name, ':');
  if (!colon)
    return "latest";
  *colon = '\0';
  return colon + 1;
}

static gboolean
name_candidate (const struct build *build, GError **error)
{
  g_autofree char *repository = g_strdup (build->recipe->name);
  const char *tag = split_name (repository);
  const char *const parameters[] = {"repo", repository, "tag", tag, NULL};
  g_autofree char *image = g_strconcat ("/images/", build->candidate, "/tag", NULL);
  g_autofree char *path = path_with (image, parameters);
  return container_client_call (build->client, "POST", path, NULL, ANSWER_MS, NULL, error);
}

/* The image DIGEST, unless it has another name, or a container uses it. */
static void
remove_nameless (const struct build *build, const char *digest)
{
  g_autoptr (json_t) answer = NULL;
  g_autofree char *path = g_strconcat ("/images/", digest, "/json", NULL);
  if (container_client_call (build->client, "GET", path, NULL, ANSWER_MS, &answer, NULL) &&
      json_array_size (json_object_get (answer, "RepoTags")) == 0)
    image_build_ask (build, "DELETE", ANSWER_MS, "/images/%s", NULL, digest);
}

static void
write_stamp (const struct container_image *image)
{
  g_autofree char *state = paths_state_dir (NULL);
  g_autofree char *path = state ? g_build_filename (state, CONTAINER_IMAGE_STAMP, NULL) : NULL;
  g_autofree char *text = g_strconcat (image->digest, "\n", NULL);
  if (path)
    g_file_set_contents (path, text, -1, NULL);
}

/* ---- the whole ---- */

static struct container_image *
make_image (const struct build *build, GError **error)
{
  const char *name = build->recipe->name;
  struct container_image *before = container_image_find (build->client, name, NULL);
  autoclose int archive_fd = image_build_gather (build, error);
  gboolean made = archive_fd >= 0 && image_build_hand_over (build, archive_fd, error) &&
                  try_candidate (build, error) && name_candidate (build, error);
  image_build_ask (build, "DELETE", ANSWER_MS, "/images/%s", NULL, build->candidate);
  struct container_image *image = made ? container_image_find (build->client, name, error) : NULL;
  if (image) {
    if (before && strcmp (before->digest, image->digest) != 0)
      remove_nameless (build, before->digest);
    write_stamp (image);
  }
  container_image_free (before);
  return image;
}

static gboolean
image_build_check_recipe (const struct container_recipe *recipe, GError **error)
{
  g_autofree char *name = container_image_path (recipe->name, error);
  g_autofree char *base = name && recipe->base ? container_image_path (recipe->base, error) : NULL;
  if (!name || (recipe->base && !base))
    return FALSE;
  if (!strchr (recipe->name, '@'))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "\"%s\" names an image by its digest, which is known only once it is made", recipe->name);
  return FALSE;
}

struct container_image *
container_image_build (struct container_client *client, const struct container_recipe *recipe, FILE *progress,
                       GError **error)
{
  if (!image_build_check_recipe (recipe, error))
    return NULL;
  g_autofree char *libexec = paths_libexec_dir (error);
  g_autofree char *caches = libexec ? paths_cache_dir (error) : NULL;
  if (!caches)
    return NULL;
  g_autofree char *cache = g_build_filename (caches, "container", NULL);
  g_autofree char *candidate = g_strdup_printf (CANDIDATE ":%d", (int)getpid ());
  const struct build build = {.client = client,
                              .recipe = recipe,
                              .progress = progress,
                              .libexec = libexec,
                              .cache = cache,
                              .candidate = candidate};
  remove_left_trials (&build);
  remove_left_candidates (&build);
  return make_image (&build, error);
}
