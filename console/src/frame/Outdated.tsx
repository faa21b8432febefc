/** Shown in place of a page whose script is not there any more. */
import { Button } from "../parts/Button.tsx";
import { Empty, Page } from "../parts/Page.tsx";

export function Outdated() {
  return (
    <Page title="A new version is there">
      <Empty title="This page could not be fetched">The service may have been replaced by another version.</Empty>
      <div class="more">
        <Button kind="primary" onClick={() => location.reload()}>
          Load it anew
        </Button>
      </div>
    </Page>
  );
}
