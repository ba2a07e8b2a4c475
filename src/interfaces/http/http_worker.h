/* SPDX-License-Identifier: Apache-2.0 */
/* A node runs what is in the queue of its cluster. */
#pragma once

struct cluster;
struct http_server;
struct http_worker;

/* The store of SERVER is shared (store_is_shared). */
struct http_worker *http_worker_new (struct http_server *server, struct cluster *cluster);
/* Cancels background runs; those from the queue go back to it. NULL is allowed. */
void http_worker_free (struct http_worker *worker);
