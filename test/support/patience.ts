/**
 * How long to wait for what is bound to come, on the real clock: it only ends a test that would hang, whatever else the machine does
 * meanwhile. So long a statement may take, too, in a test that is not about that.
 */
export const PATIENT_MS = 120_000;
