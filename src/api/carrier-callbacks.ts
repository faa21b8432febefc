/**
 * The door for carriers over HTTP: /carriers/{id}/{token}/receipts, incoming or events. Whoever does not know the token learns nothing, not even which
 * carriers there are. A callback is answered when what it says is safe; when the store is away the provider is told to come again.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  CALLBACK_KINDS,
  type CallbackKind,
  type CalledBack,
  fieldsIn,
  isFromProvider,
  isSigned,
  isToken,
  readCallback,
  replyOf,
} from "../carriers/http/callbacks.ts";
import type { HttpProfile } from "../carriers/http/profile.ts";
import { kindOf } from "../catalogue/carrier-kinds.ts";
import { LogLimiter } from "../runtime/log.ts";
import { refuseHeavyBody } from "./body-parsers.ts";
import { ApiError, RETRY_SOON } from "./errors.ts";
import type { Api } from "./operation.ts";
import type { ApiParts } from "./parts.ts";

const BODY_OCTETS = 1_048_576;
const FORM = "application/x-www-form-urlencoded";
const PATH = "/carriers/:id/:token/:kind";

interface Params {
  readonly id: string;
  readonly token: string;
  readonly kind: string;
}

export function carrierCallbacks(api: Api, parts: ApiParts): void {
  const { catalogue, clock, log, store, carriers } = parts;
  const { publicUrl } = parts.settings.server;
  const limiter = new LogLimiter(clock);
  const refuse = (id: string, says: string): void =>
    limiter.write(`${id} ${says}`, (more) => log.warn({ carrier: id, ...more }, says));

  const profileOf = ({ id, token }: Params): HttpProfile | null => {
    const profile = catalogue.current.carriers.find((each) => each.id === id);
    const called = profile === undefined ? null : kindOf(profile).called(profile);
    return called !== null && isToken(called, token) ? called : null;
  };

  const keep = async (carrierId: string, said: CalledBack): Promise<void> => {
    if (await carriers.heard(carrierId, said)) return;
    const { receipts, incoming } = said;
    if (receipts.length > 0) await store.received({ carrierId, receipts });
    if (incoming.length > 0) await store.incoming({ carrierId, parts: incoming, nowMs: clock.now() });
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const params = request.params as Params;
    const kind = CALLBACK_KINDS.find((each) => each === params.kind) as CallbackKind | undefined;
    const profile = kind === undefined ? null : profileOf(params);
    if (profile === null) throw new ApiError("callbackUnknown");
    const callback = {
      method: request.method,
      url: `${publicUrl === "" ? `http://${request.headers.host}` : publicUrl.replace(/\/$/, "")}${request.originalUrl}`,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      address: request.ip,
    };
    if (!isFromProvider(profile, callback.address)) {
      refuse(profile.id, "a callback came from a network that is not the carrier's");
      throw new ApiError("callbackForeign");
    }
    // A signature may be over its fields.
    refuseHeavyBody(callback.body, String(request.headers["content-type"]).startsWith(FORM));
    if (!isSigned(profile, callback)) {
      refuse(profile.id, "a callback is not signed as the carrier signs");
      throw new ApiError("callbackUnsigned");
    }
    const said = readCallback(profile, kind!, fieldsIn(callback), clock.now());
    if (said.receipts.length + said.incoming.length === 0)
      refuse(profile.id, "a callback says nothing that can be read");
    try {
      await keep(profile.id, said);
    } catch (error) {
      log.warn({ err: error, carrier: profile.id }, "a callback could not be kept; the carrier is told to come again");
      throw new ApiError("callbackNotKept", { headers: RETRY_SOON });
    }
    const { status, type, body } = replyOf(profile);
    return reply.code(status).type(type).send(body);
  };

  for (const method of ["GET", "POST"] as const)
    api.route({
      method,
      url: PATH,
      config: {
        auth: "none",
        octets: true,
        bodyOctets: BODY_OCTETS,
        // A provider that calls for thousands of messages a second is no flood of strangers.
        isKnown: (request) => profileOf(request.params as Params) !== null,
      },
      schema: { hide: true },
      handler: answer,
    });
}
