/** Who hears what becomes of messages: those who count, and those who watch. */
import type { FinishedCounts } from "./finished.ts";
import type { LiveNews } from "./live-news.ts";

export interface Hearers {
  readonly finished: FinishedCounts;
  readonly news: LiveNews;
}
