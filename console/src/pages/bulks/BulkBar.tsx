/** The messages of a bulk as a bar: delivered, with a carrier, failed, waiting. The words below it say the same. */
import { count } from "../../parts/Amount.tsx";
import { Status } from "../../parts/Status.tsx";
import { type Bulk, sharesOf } from "./bulk.ts";

export function BulkBar({ of }: { of: Bulk }) {
  const shares = sharesOf(of);
  const words = shares.filter((share) => share.count > 0).map((share) => `${count(share.count)} ${share.word}`);
  return (
    <div class="bulks-bar" role="img" aria-label={words.length === 0 ? "no messages counted yet" : words.join(", ")}>
      {shares.map(({ is, count: share }) =>
        share === 0 ? null : <span key={is} class={`bulks-share ${is}`} style={{ flexGrow: share }} />,
      )}
    </div>
  );
}

export function BulkShares({ of }: { of: Bulk }) {
  return (
    <span class="bulks-shares">
      {sharesOf(of)
        .filter((share) => share.count > 0)
        .map(({ is, word, count: share }) => (
          <Status key={is} is={is}>
            {count(share)} {word}
          </Status>
        ))}
    </span>
  );
}
