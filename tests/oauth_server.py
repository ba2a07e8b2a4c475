# SPDX-License-Identifier: Apache-2.0
"""An authorization server for tests: Authlib's own grants, introspection (RFC 7662) and revocation (RFC 7009), over tokens
in memory. Run by the Python of build/authlib: it prints its port and serves until standard input ends. A client "agent"
gets tokens, "adder" asks about them; the audience and the subject of a token are what was asked for."""
import json
import logging
import os
import sys
import threading
import time
from wsgiref.simple_server import WSGIRequestHandler, make_server

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants  # noqa: E402
from authlib.oauth2.rfc7009 import RevocationEndpoint  # noqa: E402
from authlib.oauth2.rfc7662 import IntrospectionEndpoint  # noqa: E402
from flask import Flask, request  # noqa: E402

SCOPES = {"run", "rule", "other"}


class Client(ClientMixin):
    def __init__(self, name, secret):
        self.client_id, self.client_secret = name, secret

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in SCOPES)

    def check_client_secret(self, secret):
        return secret == self.client_secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_basic"

    def check_grant_type(self, kind):
        return kind == "client_credentials"


class Token(TokenMixin):
    def __init__(self, client, fields, audience, subject):
        self.client, self.fields, self.audience, self.subject = client, fields, audience, subject
        self.begun, self.revoked = int(time.time()), False

    def check_client(self, client):
        return True

    def get_scope(self):
        return self.fields.get("scope", "")

    def get_expires_in(self):
        return self.fields["expires_in"]

    def is_expired(self):
        return time.time() >= self.begun + self.get_expires_in()

    def is_revoked(self):
        return self.revoked


clients = {client.client_id: client for client in (Client("agent", "agent's"), Client("adder", "adder's + more"))}
tokens = {}
questions = []


def save_token(fields, asked):
    tokens[fields["access_token"]] = Token(
        asked.client, fields, asked.form.get("resource"), asked.form.get("subject")
    )


def query_token(text, _hint, *_more):
    return tokens.get(text)


class Introspection(IntrospectionEndpoint):
    CLIENT_AUTH_METHODS = ["client_secret_basic"]

    def query_token(self, token_string, token_type_hint):
        questions.append(token_string)
        return query_token(token_string, token_type_hint)

    def check_permission(self, token, client, request):
        return client.client_id == "adder"

    def introspect_token(self, token):
        return {
            "active": True,
            "client_id": token.client.client_id,
            "token_type": "Bearer",
            "scope": token.get_scope(),
            "sub": token.subject or token.client.client_id,
            "aud": token.audience,
            "iss": issuer,
            "exp": token.begun + token.get_expires_in(),
            "iat": token.begun,
        }


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["client_secret_basic"]

    def query_token(self, token_string, token_type_hint):
        return query_token(token_string, token_type_hint)

    def revoke_token(self, token, request):
        token.revoked = True


app = Flask("authorization")
server = AuthorizationServer(app, query_client=clients.get, save_token=save_token)
server.register_grant(grants.ClientCredentialsGrant)
server.register_endpoint(Introspection)
server.register_endpoint(Revocation)
stalled = threading.Event()


@app.post("/token")
def give():
    return server.create_token_response()


@app.post("/introspect")
def introspect():
    if stalled.is_set():
        time.sleep(600)
    return server.create_endpoint_response(Introspection.ENDPOINT_NAME)


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/questions")
def asked():
    return json.dumps(len(questions))


@app.post("/stall")
def stall():
    stalled.set()
    return ""


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    return {
        "issuer": issuer,
        "token_endpoint": issuer + "/token",
        "introspection_endpoint": issuer + "/introspect",
        "revocation_endpoint": issuer + "/revoke",
        "grant_types_supported": ["client_credentials"],
        "scopes_supported": sorted(SCOPES),
    }


class Quiet(WSGIRequestHandler):
    def log_message(self, *_arguments):
        pass


logging.getLogger().setLevel(logging.ERROR)
listening = make_server("127.0.0.1", 0, app, handler_class=Quiet)
issuer = f"http://127.0.0.1:{listening.server_port}"
threading.Thread(target=listening.serve_forever, daemon=True).start()
print(listening.server_port, flush=True)
sys.stdin.read()
