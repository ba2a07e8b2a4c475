/* SPDX-License-Identifier: Apache-2.0 */
/* The key that URLs of files are signed with, as it was read last. */
#pragma once

struct file_signer;
struct file_signer *file_signer_new (void);
void file_signer_free (struct file_signer *signer);
