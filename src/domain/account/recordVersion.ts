/** The version of the journal's records. */
/** Version written today. */
export const RECORD_VERSION = 2
