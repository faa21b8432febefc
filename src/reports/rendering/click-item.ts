/** What a client is told of a click on a short link: one object, with the family's names. What is not known is left out. */
import type { ClickFacts } from "../../message/message.ts";

export function clickItem(facts: ClickFacts): object {
  const { to, url, atMs, messageId, bulkId, callbackData, applicationId, entityId } = facts;
  const { deviceType, os, deviceName } = facts;
  return {
    notificationType: "CLICKED",
    recipient: to,
    url,
    sendDateTime: atMs,
    messageId,
    bulkId,
    ...known({ callbackData }),
    recipientInfo: known({ deviceType, os, deviceName }),
    ...known({ applicationId, entityId }),
  };
}

function known(fields: Readonly<Record<string, string | null>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
