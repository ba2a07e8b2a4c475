# SPDX-License-Identifier: Apache-2.0
"""`adder telegram`, with a server of the Bot API of its own. What it was told in confidence is looked for, when it has ended,
wherever it should not be."""
import json
import os
import pathlib
import re
import signal
import subprocess

import harness
import telegram_server

INDICATOR = re.compile(r"🐍 \[session active, (\d+) vars?\]")


class Bot:
    """A bot whose people are CHATS of SERVER; LINES go to its adder.conf, in [telegram] first. The daemon is ADDER's, and was
    there before, so that it has a configuration of its own."""

    def __init__(self, adder, server, chats=(), model=None, lines="", level="debug", name="bot"):
        self.adder, self.server = adder, server
        self.process, self.logs = None, []
        self.config = pathlib.Path(adder.own(self.new_folder(adder, f"{name}-{server.number}")))
        self.lines, self.model, self.level = lines, model, level
        self.chats = list(chats)
        self.write()

    @staticmethod
    def new_folder(adder, name):
        path = adder.scratch / name
        path.mkdir(mode=0o700)
        return path

    def write(self):
        def numbers(kind):
            return " ".join(str(chat.id) for chat in self.chats if (chat.kind == "private") == (kind == "users"))

        text = f"[log]\nlevel = {self.level}\n[telegram]\napi = {self.server.url}\npoll_ms = 20s\n"
        text += "".join(f"{kind} = {numbers(kind)}\n" for kind in ("users", "chats") if numbers(kind))
        text += f"model = {self.model}\n" if self.model else ""
        path = self.config / "adder.conf"
        path.write_text(text + self.lines)
        path.chmod(0o644)

    def environment(self, **variables):
        return {
            **self.adder.process_environment(),
            "ADDER_CONFIG_DIR": str(self.config),
            "ADDER_TELEGRAM_TOKEN": self.server.token,
            **variables,
        }

    def start(self, wait=True, **variables):
        path = self.config / f"log-{len(self.logs)}"
        self.logs.append(path)
        with path.open("wb") as log:
            self.process = self.adder.popen(
                "telegram", stdout=subprocess.PIPE, stderr=log, env=self.environment(**variables), cwd="/"
            )
        if wait:
            # A server that was told to wait answers no earlier than to the first question.
            polls = self.server.polls
            self.server.wait(lambda: self.server.polls > polls or self.process.poll() is not None, "the bot to poll")
            assert self.process.poll() is None, self.log
        return self

    @property
    def log(self):
        return "".join(path.read_text(errors="replace") for path in self.logs)

    def wait_for_log(self, *words):
        harness.wait_until(lambda: all(word in self.log for word in words), f"{words} in the log: {self.log}")

    @property
    def inbox(self):
        """Where it keeps what is not done."""
        return self.adder.state / f"telegram-{self.server.number}.json"

    def wait_done(self):
        """Until all that came is done, and written down as such: what ends the bot earlier makes it tell that it was stopped."""
        self.server.wait_polling()
        harness.wait_until(lambda: json.loads(self.inbox.read_text())["updates"] == [], "all to be done")

    def ended(self, status=0):
        """Waits for its end; the log of this life."""
        assert self.process.wait(harness.DEADLINE) == status, self.log
        assert self.process.stdout.read() == b""
        self.process.stdout.close()
        self.process = None
        return self.logs[-1].read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def kill(self):
        self.process.kill()
        return self.ended(-signal.SIGKILL)

    # ---- what may be known ----

    def told(self):
        """All words of messages that were made to be found again."""
        calls = "".join(json.dumps(call.given) for call in self.server.calls)
        return set(telegram_server.WORDS.findall(calls)) | self.server.said

    def check_secrets(self):
        log = self.log
        for part in (self.server.token, self.server.secret):
            assert part not in log, "the token stands in the log"
        found = [word for word in self.told() if word in log]
        assert not found, f"words of messages stand in the log: {found}: {log}"

    def check_processes(self):
        """No command line, and no environment but the bot's own, shows the token."""
        own = self.process.pid
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("cmdline", "environ"):
                try:
                    data = pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
                except OSError:
                    continue
                if int(pid) in (own, os.getpid()) and name == "environ":
                    continue
                assert self.server.secret.encode() not in data, f"the token stands in {name} of {pid}"


class World:
    """Servers and bots of one test."""

    def __init__(self, adder):
        self.adder, self.servers, self.bots = adder, [], []

    def server(self):
        self.servers.append(telegram_server.Server())
        return self.servers[-1]

    def bot(self, server, chats=(), start=True, **options):
        self.bots.append(Bot(self.adder, server, chats, **options))
        return self.bots[-1].start() if start else self.bots[-1]

    def script(self, *lines):
        """A model that answers with LINES (agents.py)."""
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return f"replay:{self.adder.file('script.jsonl', text)}"

    def end(self):
        for bot in self.bots:
            if bot.process:
                bot.process.kill()
                bot.process.wait()
                bot.process.stdout.close()
        for server in self.servers:
            server.end()

    def check(self):
        """For the end of a test that passed."""
        for bot in self.bots:
            if bot.process and bot.process.poll() is None:
                bot.stop()
            bot.check_secrets()
        for server in self.servers:
            assert not server.misuses, server.misuses
