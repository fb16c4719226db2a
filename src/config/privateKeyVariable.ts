/** The variable that may hold a bare key. */
export const privateKeyVariable = 'PERPD_PRIVATE_KEY'
