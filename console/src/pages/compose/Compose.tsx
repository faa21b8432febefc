/** The page that writes messages. Its address may fill it in: /compose?to=…&from=…&text=…. */
import { useMemo } from "preact/hooks";
import { Page } from "../../parts/Page.tsx";
import { useLocation } from "../../router.ts";
import { Composer } from "./Composer.tsx";
import { draftFrom } from "./draft.ts";

export default function Compose() {
  const { query } = useLocation();
  const key = new URLSearchParams(query).toString();
  const initial = useMemo(() => draftFrom(query), [key]);
  return (
    <Page title="Compose">
      <Composer key={key} initial={initial} />
    </Page>
  );
}
