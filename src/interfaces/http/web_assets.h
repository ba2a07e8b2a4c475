/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, as the module adder-web holds them: scripts/embed-web makes its source from what
 * web/ was built to. */
#pragma once

#include <stddef.h>

#define WEB_MODULE "adder-web"
#define WEB_SYMBOL "adder_web_assets"

struct web_asset {
  const char *path; /* "/assets/index-0b1c2d3e.js" */
  const char *type; /* "text/javascript; charset=utf-8" */
  const char *tag;  /* of its bytes, without quotes */
  const unsigned char *data;
  size_t length;
  size_t unpacked; /* the length of what DATA is as gzip; 0: it is not packed */
};

/* Sorted by path; ends with a row without one. */
struct web_assets {
  const struct web_asset *assets;
};
