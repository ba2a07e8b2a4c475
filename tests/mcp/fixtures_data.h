/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest picture and the shortest sound, in base64. */
#pragma once

#define FIXTURE_PNG                                                                                          \
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#define FIXTURE_WAV "UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YRAAAAAAAAAAAAAAAAAAAAAAAAAA"
