export const options = { noConnectionReuse: true, noVUConnectionReuse: true, noCookiesReset: true, insecureSkipTLSVerify: true, throw: true, discardResponseBodies: true, noThresholds: true, noSummary: true, noUsageReport: true, paused: true, noSetup: true, noTeardown: true };
export default function () {}
