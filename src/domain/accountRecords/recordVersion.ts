/** The version of the journal's records. A change of a record's meaning raises it and brings a step from the previous one. */
export const RECORD_VERSION = 1
