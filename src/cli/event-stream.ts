/** Reads server-sent events (WHATWG HTML, 9.2) from an answer, as far as our own service writes them. */

export interface StreamEvent {
  /** "message" where the service gives it no name. */
  readonly event: string;
  readonly data: string;
}

/** One event of the service is never larger. */
const MAX_EVENT_LENGTH = 8 * 1024 * 1024;

export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let unread = "";
  for await (const octets of body) {
    // The first of the two line ends may have come before.
    let from = Math.max(0, unread.length - 1);
    unread += decoder.decode(octets, { stream: true });
    let start = 0;
    for (let end = unread.indexOf("\n\n", from); end >= 0; end = unread.indexOf("\n\n", from)) {
      yield eventOf(unread.slice(start, end));
      start = end + 2;
      from = start;
    }
    unread = unread.slice(start);
    if (unread.length > MAX_EVENT_LENGTH) throw new Error("the service sends an event that is too large");
  }
}

function eventOf(text: string): StreamEvent {
  let event = "message";
  const data: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice("event: ".length);
    else if (line.startsWith("data: ")) data.push(line.slice("data: ".length));
  }
  return { event, data: data.join("\n") };
}
