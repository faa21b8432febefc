/** What every engine of the store must do, in three parts: of messages, of what carriers say of them, and of accounts and their money. */
import { storeContract } from "./contract.ts";
import { bulksContract } from "./contract-bulks.ts";
import { fundsContract } from "./contract-funds.ts";
import { idsContract } from "./contract-ids.ts";
import { incomingContract } from "./contract-incoming.ts";
import { keysContract } from "./contract-keys.ts";
import { laterReceiptsContract } from "./contract-later.ts";
import { linksContract } from "./contract-links.ts";
import { listsContract } from "./contract-lists.ts";
import { managingContract } from "./contract-managing.ts";
import { messagesContract } from "./contract-messages.ts";
import { moneyContract } from "./contract-money.ts";
import { pacingContract } from "./contract-pacing.ts";
import { partsContract } from "./contract-parts.ts";
import { pinsContract } from "./contract-pins.ts";
import { quarantineContract } from "./contract-quarantine.ts";
import { receiptsContract } from "./contract-receipts.ts";
import { retentionContract } from "./contract-retention.ts";
import { sameIdsContract } from "./contract-same-ids.ts";
import { secondFactorContract } from "./contract-second-factor.ts";
import { subscriptionsContract } from "./contract-subscriptions.ts";
import { trackingContract } from "./contract-tracking.ts";
import type { MakeDatabase } from "./harness.ts";

type Contract = (engine: string, make: MakeDatabase) => void;

export const CONTRACTS = {
  messages: [
    storeContract,
    messagesContract,
    bulksContract,
    pacingContract,
    quarantineContract,
    retentionContract,
    partsContract,
  ],
  receipts: [idsContract, receiptsContract, sameIdsContract, laterReceiptsContract, trackingContract, incomingContract],
  accounts: [
    keysContract,
    secondFactorContract,
    pinsContract,
    linksContract,
    listsContract,
    subscriptionsContract,
    managingContract,
    moneyContract,
    fundsContract,
  ],
} satisfies Record<string, readonly Contract[]>;
