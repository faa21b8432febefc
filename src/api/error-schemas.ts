/** The bodies of errors, as the description names them; error-forms.ts says which paths have which. */
import { Type } from "../runtime/type.ts";
import { OptionalText, orNull } from "./shapes.ts";

export const ErrorResponse = Type.Object(
  {
    requestError: Type.Object({
      clientCorrelator: orNull(Type.String()),
      serviceException: Type.Object({
        messageId: Type.String(),
        text: Type.String(),
        variables: orNull(Type.Array(Type.String())),
        additionalDescription: orNull(Type.String()),
      }),
      variables: orNull(Type.Array(Type.String())),
    }),
    current: Type.Optional(
      Type.Unsafe<object>({
        type: "object",
        description: "What is there now, after a change to an older version of it.",
      }),
    ),
  },
  { title: "ErrorResponse", description: "What went wrong." },
);

export const ApiErrorResponse = Type.Object(
  {
    errorCode: Type.String(),
    description: Type.String(),
    action: Type.String(),
    violations: Type.Array(Type.Object({ property: Type.String(), violation: Type.String() })),
    resources: Type.Array(Type.Object({ name: Type.String(), url: Type.String() })),
  },
  { title: "ApiError", description: "What went wrong, and what to do about it." },
);

const serviceException = {
  messageId: Type.String(),
  text: Type.String(),
  validationErrors: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), { description: "What is wrong with each field." }),
  ),
};

/** Of PINs and conversions: with its documented fields only. */
export const ApiExceptionResponse = Type.Object(
  { requestError: Type.Object({ serviceException: Type.Object(serviceException) }) },
  { title: "ApiException", description: "What went wrong." },
);

export const TokenErrorResponse = Type.Object(
  {
    ...ApiExceptionResponse.properties,
    error: OptionalText("OAuth's word for it."),
  },
  { title: "TokenError", description: "What went wrong." },
);
