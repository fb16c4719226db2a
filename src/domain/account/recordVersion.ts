/** The version of the journal's records. A change of what a record says raises it and brings a step from the one before. */
export const RECORD_VERSION = 1
