/** The short links of a message: how each stands in the text, where it leads, and how often it was opened; and what the client told of its conversion. */
import type { MessageAnswer } from "../../../../src/api/console/message-schemas.ts";
import { Id } from "../../parts/Copy.tsx";
import { Time } from "../../parts/Time.tsx";
import { shortLink } from "./short-link.ts";

export function LinksOf({ message: { text, links, conversion } }: { message: MessageAnswer }) {
  if (links.length === 0 && conversion === null) return null;
  return (
    <section class="message-links" aria-labelledby="message-links-title">
      <h2 id="message-links-title">{links.length === 0 ? "Conversion" : "Links"}</h2>
      {links.length > 0 && (
        <ul>
          {links.map(({ code, target, clicks, firstClickAt, lastClickAt }) => (
            <li key={code}>
              <Id of={shortLink(text, code)} />
              <span>
                leads to <bdi>{target}</bdi>
              </span>
              <span class="soft">
                {clicks} {clicks === 1 ? "click" : "clicks"}
                {clicks === 1 && (
                  <>
                    , at <Time at={firstClickAt} as="clock" />
                  </>
                )}
                {clicks > 1 && (
                  <>
                    , the first at <Time at={firstClickAt} as="clock" />, the last at{" "}
                    <Time at={lastClickAt} as="clock" />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {conversion !== null && (
        <p>
          Conversion {conversion.name !== null && <bdi>{conversion.name}</bdi>}{" "}
          {conversion.endedAt === null ? (
            "was not told of yet."
          ) : (
            <>
              was told of at <Time at={conversion.endedAt} as="clock" />.
            </>
          )}
        </p>
      )}
    </section>
  );
}
