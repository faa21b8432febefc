/** Who sends to Kannel's door: a username and a password in the query, in headers, or in a form. */
import type { FastifyRequest } from "fastify";
import type { KannelLogin, NamedPassword } from "../auth.ts";
import { headerParameters, joined, type Parameters, queryParameters, textOf } from "./parameters.ts";

const FORM = /^application\/x-www-form-urlencoded\b/i;

export function isForm({ headers }: FastifyRequest): boolean {
  return FORM.test(headers["content-type"] ?? "");
}

/** Null where one of the two is missing. */
export function pairIn(parameters: Parameters): NamedPassword | null {
  const username = textOf(parameters.get("username"));
  const password = textOf(parameters.get("password"));
  return username === null || password === null ? null : { username, password };
}

/** What it says before its body. */
export function loginOf(request: FastifyRequest): KannelLogin {
  const pair = pairIn(joined(queryParameters(request.url), headerParameters(request.headers)));
  return { ...pair, mayComeLater: request.method === "POST" && isForm(request) };
}
