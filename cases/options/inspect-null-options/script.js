export const options = { vus: null, duration: null, stages: null, thresholds: null, scenarios: null, tags: null, hosts: null, ext: null, userAgent: null, systemTags: null, summaryTrendStats: null, dns: null, tlsVersion: null, tlsAuth: null, blacklistIPs: null, rps: null, batch: null };
export default function () {}
