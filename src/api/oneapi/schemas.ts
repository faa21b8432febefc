/** The shapes of the OneAPI. Bodies come as JSON or as a form, and are read by their operations: here they are described. */
import { PROFILE_NUMBERS, PROFILE_TEXTS } from "../../message/profile.ts";
import { Type } from "../../runtime/type.ts";
import { Flag, OptionalText, Text, TextOrNull, Whole } from "../shapes.ts";

const Correlator = OptionalText(
  "Your own name of the request, at most 100 characters: its bulkId. Made up unless given.",
);
const NotifyURL = Text("Absolute, http or https.");
const CallbackData = Type.Optional(Type.String({ maxLength: 200, description: "Comes back with each report." }));

export const OutboundRequest = Type.Object(
  {
    senderAddress: OptionalText("The sender; the one in the path unless given."),
    address: Type.Unsafe<string | string[]>({
      type: ["string", "array"],
      items: { type: "string" },
      description:
        "Recipient, or an array of recipients; in a form the name stands again for each. A tel: before them is left out.",
    }),
    message: Type.String({ minLength: 1 }),
    clientCorrelator: Correlator,
    senderName: OptionalText("Not used: the sender is senderAddress."),
    notifyURL: Type.Optional(NotifyURL),
    callbackData: CallbackData,
    language: Type.Optional(
      Type.Object({
        languageCode: OptionalText("TR, PT, ES or SP."),
        useSingleShift: Type.Optional(Type.Boolean()),
        useLockingShift: Type.Optional(Type.Boolean()),
      }),
    ),
  },
  { description: "JSON or a form." },
);

const ResourceReference = Type.Object({ resourceURL: Type.String() });

export const OutboundResponse = Type.Object({
  sendMessageResults: Type.Array(
    Type.Object({
      messageStatus: Text("MessageAccepted, or what is wrong with it."),
      messageId: Type.String(),
      senderAddress: Type.String(),
      destinationAddress: Type.String(),
      price: Type.Optional(Type.Number({ description: "Of the whole message. Absent of one that was sent before." })),
    }),
  ),
  clientCorrelator: Type.String(),
  resourceReference: ResourceReference,
});

export const DeliveryInfos = Type.Object({
  deliveryInfoList: Type.Object({
    deliveryInfo: Type.Array(
      Type.Object({
        address: Type.String(),
        messageId: Type.String(),
        deliveryStatus: Text(
          "MessageWaiting, DeliveredToNetwork, DeliveredToTerminal, DeliveryImpossible or DeliveryUncertain.",
        ),
        clientCorrelator: TextOrNull("Of the request."),
        price: Type.Number({ description: "Of the whole message." }),
      }),
    ),
    resourceURL: Type.String(),
  }),
});

export const LimitQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 0, description: "How many at most; 0 for as many as one answer has: 1000." }),
  ),
});

export const DeliveryReports = Type.Object({
  deliveryReportList: Type.Array(
    Type.Object({
      messageId: Type.String(),
      sentDate: Type.String(),
      doneDate: Type.String(),
      status: Type.String(),
      price: Type.Number(),
    }),
  ),
});

export const BatchQuery = Type.Object({
  maxBatchSize: Type.Optional(
    Type.Integer({ minimum: 0, description: "How many at most; 100 unless given, at most 1000." }),
  ),
});

export const InboundMessages = Type.Object({
  inboundSMSMessageList: Type.Object({
    inboundSMSMessage: Type.Array(
      Type.Object({
        dateTime: Type.String(),
        destinationAddress: Text("Your number."),
        messageId: Type.String(),
        message: Type.String(),
        resourceURL: Type.Null(),
        senderAddress: Text("The phone."),
        moSessionId: Type.Integer(),
        moResponseKey: Type.Null(),
        callbackData: TextOrNull("Null: nobody subscribed to it."),
        price: Type.Number(),
      }),
    ),
    numberOfMessagesInThisBatch: Type.Integer(),
    totalNumberOfPendingMessages: Whole("How many more can be fetched; counted up to 10,000."),
    resourceURL: TextOrNull("Of this list."),
    callbackData: Type.Null(),
  }),
});

export const NumberTypes = Type.Object({
  moNoTypes: Type.Array(Type.Object({ id: Type.Integer(), noType: Type.String(), description: Type.String() })),
});

const criteria = OptionalText("The first word of the text, in capitals or not; any unless given.");

export const DeliverySubscriptionRequest = Type.Object(
  {
    notifyURL: NotifyURL,
    criteria,
    callbackData: CallbackData,
    clientCorrelator: OptionalText("Your own name of the request: with the same one again nothing else is made."),
    senderAddress: OptionalText("Only of messages with this sender; the one in the path unless given."),
  },
  { description: "JSON or a form." },
);

export const MadeDeliverySubscription = Type.Object({
  deliveryReceiptSubscription: Type.Object({
    callbackReference: Type.Object({ callbackData: TextOrNull("As it was given."), notifyURL: Type.String() }),
    resourceURL: Type.String(),
  }),
});

const DeliverySubscription = Type.Object({
  subscriptionId: Type.String(),
  senderAddress: TextOrNull("Null for any sender."),
  criteria: TextOrNull("Null for any text."),
  notifyUrl: Type.String(),
  callbackData: TextOrNull("As it was given."),
});
export const OneDeliverySubscription = Type.Object({ deliveryReceiptSubscription: DeliverySubscription });
export const DeliverySubscriptions = Type.Object({ deliveryReceiptSubscriptions: Type.Array(DeliverySubscription) });

export const InboundSubscriptionRequest = Type.Object(
  {
    destinationAddress: Text("A number of your account."),
    notifyURL: NotifyURL,
    criteria,
    notificationFormat: OptionalText("JSON, unless it is XML."),
    callbackData: CallbackData,
    clientCorrelator: OptionalText("Your own name of the request: with the same one again nothing else is made."),
  },
  { description: "JSON or a form." },
);
export const InboundSubscriptionChange = Type.Object(
  { subscriptionId: Type.String(), notifyURL: NotifyURL },
  { description: "JSON or a form." },
);
export const Resource = Type.Object({ resourceReference: ResourceReference });

const InboundSubscription = Type.Object({
  subscriptionId: Type.String(),
  notifyURL: Type.String(),
  callbackData: TextOrNull("As it was given."),
  criteria: TextOrNull("Null for any text."),
  destinationAddress: Type.String(),
  notificationFormat: Type.String(),
});
export const OneInboundSubscription = Type.Object({ subscription: InboundSubscription });
export const InboundSubscriptions = Type.Object({ subscriptions: Type.Array(InboundSubscription) });
export const PageQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, description: "From 1." })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, description: "All unless given." })),
});

export const Balance = Type.Object({
  balance: Type.Number(),
  currency: Type.Object({
    id: Whole("The number of ISO 4217."),
    currencyName: Text("Its letters."),
    symbol: Type.String(),
  }),
});

export const Profile = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  ...Object.fromEntries(PROFILE_TEXTS.map((name) => [name, Type.String()])),
  ...Object.fromEntries(PROFILE_NUMBERS.map((name) => [name, Type.Integer()])),
  enabled: Type.Boolean(),
  key: Type.String(),
  accountKey: Type.String(),
  url: Type.String(),
  accountId: Type.String(),
  canSendTraffic: Type.Boolean(),
  locked: Type.Boolean(),
});
export const ProfileList = Type.Array(Profile);
export const ProfileUsers = Type.Object({ users: Type.Array(Profile) });
export const ProfileClients = Type.Object({
  clients: Type.Array(Profile),
  next: TextOrNull("To be sent as after for the next page; null on the last one."),
});
export const ClientsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  after: OptionalText("What the page before gave as next."),
});
export const ProfileChange = Type.Object(
  {
    ...Object.fromEntries(PROFILE_TEXTS.map((name) => [name, Type.Optional(Type.String({ maxLength: 255 }))])),
    ...Object.fromEntries(PROFILE_NUMBERS.map((name) => [name, Type.Optional(Type.Integer({ minimum: 0 }))])),
  },
  { description: "What is not named stays as it is. JSON or a form." },
);
export const UsernameQuery = Type.Object({ username: Type.String() });
export const UsernameCheck = Type.Object({ usernameCheck: Type.Boolean() });

export const LogQuery = Type.Object({
  from: OptionalText("Only messages sent then or later, as 2026-02-12T09:58:20.323+0000; 48 hours ago unless given."),
  to: OptionalText("Only messages sent before."),
  messageId: OptionalText("Only this message."),
});

const moment = TextOrNull("Null for a message that is still on its way.");
export const LogList = Type.Object({
  logs: Type.Array(
    Type.Object({
      sendDateTime: Type.String(),
      messageId: Type.String(),
      smsCount: Type.Integer(),
      destinationAddress: Type.String(),
      sender: Type.String(),
      clientMetadata: TextOrNull("The callbackData."),
      messageText: Type.String(),
      status: Type.Object({
        id: Type.Integer(),
        status: Type.String(),
        description: Type.String(),
        failureReason: TextOrNull("Null where nothing failed."),
      }),
      bulkId: TextOrNull("The request that the message came with."),
      deliveryReportTime: moment,
      ported: Type.Boolean(),
      pricePerMessage: Type.Object({ price: Type.Number(), currency: Type.String() }),
      destinationNetwork: Type.Object({
        id: Whole("Country and network code; 0 where it is not known."),
        name: Type.String(),
        country: Type.Object({
          id: Type.Integer(),
          code: Type.String(),
          prefix: Type.String(),
          name: Type.String(),
          locale: Type.String(),
        }),
      }),
    }),
  ),
  from: Type.String(),
  to: TextOrNull("Null where none was given."),
  hasMoreLogs: Flag("Ask again with to as the last sendDateTime."),
});
