/** A user's second factor: enrolled, put in force with a first code, and taken away with another. */
import type { FastifyRequest } from "fastify";
import { Allowance } from "../auth/allowance.ts";
import { factorUri, newFactorSecret, newRecoveryCodes, proofOf } from "../auth/second-factor.ts";
import { tokenHashOf } from "../auth/sessions.ts";
import type { User } from "../store/port/accounts.ts";
import { attemptAs, checkPassword, isFactorRequired, readBasic, readToken } from "./auth.ts";
import { ApiError, badField, tooMany } from "./errors.ts";
import { noteWrongCode, readCode, WRONG_CODE } from "./login.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { actorOf } from "./operator/managing.ts";
import { bodyFields } from "./parameters.ts";
import type { ApiParts } from "./parts.ts";
import * as schemas from "./schemas.ts";

const PATH = "/account/1/second-factor";
/** A password and a code are all that a body says here. */
const OWN = { tag: "Account", auth: "user", form: true, bodyOctets: 4_096 } as const;
/** Each enrolment is an entry of the audit, which nobody can delete. */
const MAX_ENROLMENTS = 5;
const HOUR_MS = 60 * 60_000;

function userOf(request: FastifyRequest): User {
  return accountOf(request).user!;
}

function neededCode(request: FastifyRequest): string {
  const code = readCode(request);
  if (code === null) throw badField("code", "is required: six digits of the second factor, or a recovery code");
  return code;
}

export function secondFactorOperations(api: Api, parts: ApiParts): void {
  const { store, clock } = parts;
  const enrolments = new Allowance({ clock, most: MAX_ENROLMENTS, eachMs: HOUR_MS });

  /** A session may be a stolen one: whoever changes how to log in says the password once more. */
  async function checkOwner(request: FastifyRequest): Promise<void> {
    if (readBasic(request.headers.authorization) !== null) return;
    const { password } = bodyFields(request);
    if (typeof password !== "string")
      throw badField("password", "is required: your own, to begin with a second factor");
    const { username } = userOf(request);
    if ((await checkPassword(parts, { username, password }, request.ip)) === null)
      throw new ApiError("forbidden", "The password is wrong.");
  }

  /** Does something for a right code. Wrong ones are counted, as in a login. */
  async function withCode<Result>(
    request: FastifyRequest,
    code: string,
    work: () => Promise<Result | null>,
  ): Promise<Result> {
    const { username } = userOf(request);
    const done = await attemptAs(parts, { username, password: "", proof: `\0${code}` }, request.ip, work);
    if (done === null) throw new ApiError("forbidden", { description: WRONG_CODE });
    return done;
  }

  api.get(
    PATH,
    operation({
      ...OWN,
      id: "getSecondFactor",
      summary: "See whether you have a second factor",
      answer: schemas.FactorResponse,
    }),
    async (request) => {
      const { username, secondFactor } = userOf(request);
      const factor = secondFactor ? await store.secondFactor({ username }) : null;
      const required = isFactorRequired(parts, accountOf(request));
      return { enabled: secondFactor, required, recoveryCodes: factor?.recoveryCodes ?? 0 };
    },
  );

  api.post(
    PATH,
    operation({
      ...OWN,
      id: "beginSecondFactor",
      summary: "Begin with a second factor; it is in force when you have confirmed it",
      takes: schemas.FactorRequest,
      answer: schemas.NewFactorResponse,
    }),
    async (request) => {
      const { username, secondFactor } = userOf(request);
      const inForce = () => new ApiError("conflict", "A second factor is in force: take it away first, with a code.");
      if (secondFactor) throw inForce();
      await checkOwner(request);
      if (!enrolments.take(username)) throw tooMany("There were too many enrolments.", HOUR_MS);
      const secret = newFactorSecret();
      const begun = await store.beginSecondFactor({ username, secret, by: actorOf(request), atMs: clock.now() });
      if (begun !== "begun") throw inForce();
      return { secret, uri: factorUri(username, secret) };
    },
  );

  api.post(
    `${PATH}/confirm`,
    operation({
      ...OWN,
      id: "confirmSecondFactor",
      summary: "Put the second factor in force with a first code; your other sessions end",
      takes: schemas.CodeRequest,
      answer: schemas.RecoveryCodesResponse,
    }),
    async (request) => {
      const { username } = userOf(request);
      const code = neededCode(request);
      const factor = await store.secondFactor({ username });
      const nothing = () => new ApiError("conflict", `There is nothing to confirm: begin with POST ${PATH}.`);
      if (factor === null || factor.confirmedAtMs !== null) throw nothing();
      const { shown, hashes } = newRecoveryCodes();
      const token = readToken(request.headers.authorization);
      const confirmed = await withCode(request, code, async () => {
        const proof = proofOf(code, factor, clock.now());
        if (proof?.kind !== "code") return null;
        return store.confirmSecondFactor({
          username,
          begunAtMs: factor.begunAtMs,
          step: proof.step,
          recoveryHashes: hashes,
          keepTokenHash: token === null ? null : tokenHashOf(token),
          by: actorOf(request),
          atMs: clock.now(),
        });
      });
      if (confirmed === "outdated") throw nothing();
      return { recoveryCodes: shown };
    },
  );

  api.delete(
    PATH,
    operation({
      ...OWN,
      id: "removeSecondFactor",
      summary: "Take the second factor away, with a code",
      takes: schemas.CodeRequest,
    }),
    async (request) => {
      const { username, secondFactor } = userOf(request);
      const code = neededCode(request);
      if (!secondFactor) throw new ApiError("conflict", "No second factor is in force.");
      await withCode(request, code, async () => {
        const factor = await store.secondFactor({ username });
        const proof = factor === null ? null : proofOf(code, factor, clock.now());
        const by = { by: actorOf(request), atMs: clock.now() };
        const removed = proof === null ? "refused" : await store.removeSecondFactor({ username, proof, ...by });
        if (removed === "refused") noteWrongCode(parts, username, request.ip);
        return removed === "refused" ? null : removed;
      });
    },
  );
}
