/** The content types that the API takes: the body of a request is read into memory, within the bound of its operation, and parsed. */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Settings } from "../runtime/settings.ts";
import type { Bodies } from "./bodies.ts";
import { parseForm, parseJson } from "./body-parsers.ts";
import type { ClientConnections } from "./client-connections.ts";
import { type Api, SMALL_BODY } from "./operation.ts";

type Done = (error: Error | null, body?: unknown) => void;

export function takeContentTypes(api: Api, { limits }: Settings, bodies: Bodies, connections: ClientConnections): void {
  api.removeAllContentTypeParsers();
  const parsedBy =
    (parse: (body: Buffer, request: FastifyRequest) => unknown) =>
    (request: FastifyRequest, raw: IncomingMessage, done: Done): void => {
      const { bodyOctets = SMALL_BODY, octets = false } = request.routeOptions.config;
      const limit = bodyOctets === "large" ? limits.bodyBytes : Math.min(bodyOctets, limits.bodyBytes);
      const progress = request.progress!;
      const owner = {
        accountId: request.account?.id ?? null,
        dismiss: () => connections.dismiss(progress.connection),
        holds: (release: () => void) => progress.holds(release),
      };
      bodies.read(raw, limit, owner, (error, body) => {
        if (error !== null) {
          done(error);
          return;
        }
        if (octets) {
          done(null, body!);
          return;
        }
        request.rawBody = body!;
        let value: unknown;
        try {
          value = parse(body!, request);
        } catch (fault) {
          done(fault as Error);
          return;
        }
        done(null, value);
      });
    };
  api.addContentTypeParser("application/json", parsedBy(parseJson));
  api.addContentTypeParser(
    "application/x-www-form-urlencoded",
    parsedBy((body, { routeOptions, headers }) =>
      parseForm(body, routeOptions.config.form === "lists", headers["content-type"]),
    ),
  );
  // Only what has no Content-Type comes here: the others were refused before their body was read.
  api.addContentTypeParser("*", parsedBy(parseJson));
}
