/** What a request of the first two versions says of its links and of its conversions, as intake takes it. */
import type { ConversionWish, LinkWish } from "../intake/request.ts";
import { type Static, Type } from "../runtime/type.ts";
import { OptionalFlag, OptionalText } from "./shapes.ts";

/** A name or a key of the client's is kept up to here. */
const MAX_KEPT_LENGTH = 255;

export const UrlOptions = Type.Object(
  {
    shortenUrl: OptionalFlag("Default true; with false, links stay as they are."),
    trackClicks: OptionalFlag("Whether clicks are told to trackingUrl. Default true."),
    trackingUrl: OptionalText("Where clicks are posted: absolute, http or https."),
    removeProtocol: OptionalFlag("Write short links without https://. Default false."),
    customDomain: Type.Optional(
      Type.String({ maxLength: 255, description: "The domain of the short links, one of the service's." }),
    ),
  },
  { description: "Each http and https link of a text becomes a short one, of its own for each destination." },
);

export function linkWish(options: Static<typeof UrlOptions> | undefined): LinkWish | null {
  if (options === undefined || options.shortenUrl === false) return null;
  const { trackClicks = true, trackingUrl = "", removeProtocol = false, customDomain = "" } = options;
  return {
    trackClicks,
    trackingUrl: trackingUrl === "" ? null : trackingUrl,
    removeProtocol,
    customDomain: customDomain === "" ? null : customDomain,
  };
}

/** `track` says what is told of later: "SMS" is that a message brought what it was sent for. Whatever else stands there is no such wish. */
export function conversionWish(track: unknown, type: unknown, processKey: unknown): ConversionWish | null {
  if (typeof track !== "string" || track.toUpperCase() !== "SMS") return null;
  return { name: textOf(type), processKey: textOf(processKey) };
}

function textOf(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  return value.slice(0, MAX_KEPT_LENGTH).toWellFormed();
}
