/**
 * One finding for one carrier that is away. The service tells that it is down, and what waits for it; the examination itself tells what it met at each of
 * its hosts. Both are about the same trouble, which is to be counted once. Pure.
 */
import type { Finding } from "../../doctor/finding.ts";

/** "acme", of "acme" and of "acme smpp.acme.example:2775": no id of a carrier has a space. */
function carrierOf({ about }: Finding): string {
  const [id = ""] = about.split(" ", 1);
  return id;
}

/** "smpp.acme.example:2775: no connection"; of the service's own finding there is no host. */
function toldBy({ about, says }: Finding): string {
  const host = about.slice(about.indexOf(" ") + 1);
  return `${host}: ${says}`;
}

function isAway({ area, state }: Finding): boolean {
  return area === "carriers" && state === "wrong";
}

export function joinedCarriers(findings: readonly Finding[]): Finding[] {
  const byCarrier = Map.groupBy(findings.filter(isAway), carrierOf);
  return findings.flatMap((finding) => {
    const all = isAway(finding) ? byCarrier.get(carrierOf(finding))! : [finding];
    if (all.length === 1) return [finding];
    return all[0] === finding ? [joined(all)] : [];
  });
}

function joined(all: readonly Finding[]): Finding {
  const id = carrierOf(all[0]!);
  const fromService = all.filter(({ about }) => about === id).map(({ says }) => says);
  const seenHere = all.filter(({ about }) => about !== id);
  const here = seenHere.map(toldBy).join("; ");
  // What the examination met says more of how to mend it than that it is tried again.
  const mends = new Set((seenHere.length > 0 ? seenHere : all).flatMap(({ mend }) => mend ?? []));
  const says = [...fromService, ...(here === "" ? [] : [fromService.length === 0 ? here : `From here: ${here}`])];
  return { area: "carriers", about: id, state: "wrong", says: says.join(". "), mend: [...mends].join("; ") };
}
