/** The carriers as they are now, on all nodes, and the order to try their connections at once. What is set about them is in catalogue.ts. */
import { carrierStates, reconnectCarrier } from "../../admin/carriers.ts";
import { CARRIER_STATES } from "../../carriers/state.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import { LimitQuery } from "../schemas.ts";
import { OneOf, OptionalText, Text, TextOrNull, Whole } from "../shapes.ts";
import { actorOf, named, OPERATOR } from "./managing.ts";

const StatesAnswer = Type.Object({
  count: Whole("How many there are."),
  results: Type.Array(
    Type.Object({
      carrier: Type.String(),
      node: Text("The machine and the process that serve it."),
      state: OneOf(
        CARRIER_STATES,
        "bound: at least one connection is. ready: a carrier over HTTP that can be used. throttled: it is, and the carrier says that it is sent too much. slow: it is bound, and hardly takes any messages, or comes back after it was sick. sick: it is bound, and takes none of many; they take another carrier of their route. connecting: it is being tried. waiting: it is tried again at nextTryAt. refused: the same, because the carrier refused the bind or the login.",
      ),
      since: Text("Since when it is bound, or is not; of one that is slow or sick, since when it is that."),
      reason: TextOrNull(
        "What last went wrong with a connection that is not there, or why it is throttled, slow or sick.",
      ),
      nextTryAt: TextOrNull("Null while it is bound or being tried."),
      bound: Whole("Connections that are bound."),
      connections: Whole("Connections that this node may have."),
    }),
  ),
});

export function carrierOperations(api: Api, { store, clock }: ApiParts): void {
  api.get(
    "/operator/1/carrier-states",
    operation({
      ...OPERATOR,
      id: "listCarrierStates",
      summary: "See how the nodes stand with the carriers",
      query: Type.Object({
        ...LimitQuery.properties,
        carrier: OptionalText("Only this one's."),
      }),
      answer: StatesAnswer,
    }),
    async ({ query }) => {
      const limit = readLimit(query);
      const carrier = readText(fieldsOf(query), "carrier");
      const all = await carrierStates(store);
      const states = all.filter(({ carrierId }) => carrier === null || carrierId === carrier);
      return {
        count: states.length,
        results: states.slice(0, limit).map(({ carrierId, sinceMs, nextTryMs, ...state }) => ({
          ...state,
          carrier: carrierId,
          since: formatDateTime(sinceMs),
          nextTryAt: nextTryMs === null ? null : formatDateTime(nextTryMs),
        })),
      };
    },
  );

  api.post(
    "/operator/1/carriers/:id/reconnect",
    operation({
      ...OPERATOR,
      id: "reconnectCarrier",
      summary: "Try those connections of a carrier that are not bound, on every node and at once",
    }),
    (request) => reconnectCarrier(store, { id: named(request, "id"), by: actorOf(request), atMs: clock.now() }),
  );
}
