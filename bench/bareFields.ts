/** Places of the fields in which the prepared bodies of the bare server differ, in the order in which it is told them. */
export const bareFields: readonly string[] = ['{requestId}', '{key}', '{nonce}', '{relayParams}']
