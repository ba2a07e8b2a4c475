/* SPDX-License-Identifier: Apache-2.0 */
/* The labels by which containers and images of Adder are known. */
#pragma once

#define LABEL_DAEMON  "adder.daemon"  /* of a container: PID:START, as in /proc/PID/stat */
#define LABEL_OWNER   "adder.owner"   /* of a container: the daemon's user id */
#define LABEL_HOST    "adder.host"    /* of a container: boot id of the machine:inode of the pid namespace */
#define LABEL_VERSION "adder.version" /* of an image: Adder's when it was built */
#define LABEL_RUNNER  "adder.runner"  /* of an image: SHA-256 of the runner in it (image.h) */
#define LABEL_BUILT   "adder.built"   /* of an image: when, RFC 3339 in UTC */
#define LABEL_MODULES "adder.modules" /* of an image: what its zygotes load ahead, between commas */
