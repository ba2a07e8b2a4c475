/* SPDX-License-Identifier: Apache-2.0 */
/* The page: files of the module adder-web, open to everybody, since they hold nothing but the program. What
 * the page may do in a browser is said here: it loads nothing of other servers, runs no script but its own,
 * and is shown in no frame. */
#include <string.h>

#include "interfaces/http/http_private.h"
#include "interfaces/http/http_range.h"
#include "interfaces/http/web_page.h"

#define FOREVER   "public, max-age=31536000, immutable" /* names change with what files hold */
#define REVISITED "no-cache"

#define PAGE_POLICY                                                                                          \
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "   \
  "connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "      \
  "require-trusted-types-for 'script'; trusted-types dompurify adder"
/* The document that shows HTML of code: an origin of its own, which loads nothing, in the page's frames. */
#define FRAME_POLICY                                                                                         \
  "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; " \
  "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
/* Of a file that is opened by itself. */
#define FILE_POLICY "sandbox; default-src 'none'; frame-ancestors 'none'"

#define NO_PAGE                                                                                              \
  "This Adder was built without its web interface.\n"                                                        \
  "To get it, build with -Dweb=true (Node and the packages of web/ are then installed; docs/install.md), "   \
  "or use the API: /openapi.json describes it.\n"

/* ---- one file ---- */

static void
set_web_headers (struct http_request *request, const char *policy, const char *caching, const char *reach)
{
  http_set_header (request, "Content-Security-Policy", policy);
  http_set_header (request, "Cache-Control", caching);
  http_set_header (request, "Cross-Origin-Opener-Policy", "same-origin");
  http_set_header (request, "Cross-Origin-Resource-Policy", reach);
  http_set_header (request, "Referrer-Policy", "no-referrer");
}

struct unpacking {
  char *text;
  gsize length, most;
};

static gboolean
take_unpacked (gpointer data, const char *bytes, gsize length)
{
  struct unpacking *unpacking = data;
  if (length > unpacking->most - unpacking->length)
    return FALSE;
  memcpy (unpacking->text + unpacking->length, bytes, length);
  unpacking->length += length;
  return TRUE;
}

/* For the few clients that take no gzip. The caller's. */
static char *
unpack_asset (const struct wire_binding *wire, const struct web_asset *asset)
{
  struct unpacking unpacking = {g_malloc (asset->unpacked), 0, asset->unpacked};
  struct wire_gunzip *gunzip = wire->gunzip_new ();
  gboolean ok =
      gunzip &&
      wire->gunzip_add (gunzip, (const char *)asset->data, asset->length, take_unpacked, &unpacking) &&
      wire->gunzip_is_whole (gunzip) && unpacking.length == asset->unpacked;
  if (gunzip)
    wire->gunzip_free (gunzip);
  if (!ok)
    g_clear_pointer (&unpacking.text, g_free);
  return unpacking.text;
}

static void
reply_asset (struct http_request *request, const struct web_asset *asset)
{
  gboolean packed = asset->unpacked > 0 && http_coding_accepts_gzip (request);
  g_autofree char *tag = g_strdup_printf ("\"%s%s\"", asset->tag, packed ? "-gzip" : "");
  http_set_header (request, "ETag", tag);
  if (asset->unpacked > 0)
    http_set_header (request, "Vary", "Accept-Encoding");
  if (http_range_has_tag (http_header (request, "If-None-Match"), tag, TRUE)) {
    http_reply_status (request, 304);
    return;
  }
  struct wire_reply reply = {.length = asset->length, .fd = -1};
  if (packed)
    http_set_header (request, "Content-Encoding", "gzip");
  if (packed || asset->unpacked == 0)
    reply.text = g_memdup2 (asset->data, asset->length);
  else {
    reply.text = unpack_asset (request->server->wire, asset);
    reply.length = asset->unpacked;
  }
  if (reply.text)
    http_reply_send (request, 200, asset->type, &reply);
  else
    http_reply_fault (request, 500, "the file is damaged in the module " WEB_MODULE);
}

/* ---- handlers ---- */

static void
get_page (struct http_request *request)
{
  const struct web_asset *asset = web_page_find ("/index.html");
  set_web_headers (request, PAGE_POLICY, REVISITED, "same-origin");
  if (asset)
    reply_asset (request, asset);
  else
    http_reply_bytes (request, 404, "text/plain; charset=utf-8", NO_PAGE, strlen (NO_PAGE));
}

static void
get_named (struct http_request *request, const char *policy, const char *reach)
{
  const struct web_asset *asset = web_page_find (http_path (request));
  if (!asset) {
    http_reply_fault (request, 404, "there is nothing at %s; /openapi.json says what there is",
                      http_path (request));
    return;
  }
  gboolean fixed = g_str_has_prefix (asset->path, "/assets/");
  set_web_headers (request, policy, fixed ? FOREVER : REVISITED, reach);
  reply_asset (request, asset);
}

static void
get_asset (struct http_request *request)
{
  get_named (request, FILE_POLICY, "same-origin");
}

static void
get_frame (struct http_request *request)
{
  get_named (request, FRAME_POLICY, "same-origin");
}

/* The frame's document has an origin of its own, to which this server is another. */
static void
get_frame_script (struct http_request *request)
{
  get_named (request, FILE_POLICY, "cross-origin");
}

/* ---- the table ---- */

static const struct field asset_parameters[] = {
    {.name = "name", .types = FIELD_TEXT, .minimum = 1, .maximum = 200, .text = "Its name."},
    {0},
};

/* clang-format off */
#define WEB_ROUTE_FOR(pages, at, says, ...) \
  {.method = "GET", .path = (at), .tag = "web", .title = (says), .text = (says), .flags = HTTP_OPEN | (pages), \
   .status = 200, .reply_type = "*/*", __VA_ARGS__}
#define WEB_ROUTE(at, says, ...) WEB_ROUTE_FOR (0, at, says, __VA_ARGS__)

/* Without operations: no program needs them. */
const struct http_route http_routes_web[] = {
    WEB_ROUTE ("/", "The page.", .handle = get_page),
    WEB_ROUTE ("/assets/{name}", "Its scripts and styles.", .parameters = asset_parameters, .handle = get_asset),
    WEB_ROUTE ("/favicon.svg", "Its icon.", .handle = get_asset),
    WEB_ROUTE ("/frame.html", "The document of its frames.", .handle = get_frame),
    /* Chromium says "Origin: null" for it. */
    WEB_ROUTE_FOR (HTTP_ANY_PAGE, "/frame.js", "The script of that document.", .handle = get_frame_script),
    {0},
};
/* clang-format on */
