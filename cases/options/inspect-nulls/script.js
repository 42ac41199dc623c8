export const options = {
  cloud: null, ext: null, tlsCipherSuites: null, tlsVersion: null, tlsAuth: null, hosts: null, dns: null, tags: null,
  thresholds: null, scenarios: null, systemTags: null, summaryTrendStats: null, summaryTimeUnit: null, executionSegment: null,
  executionSegmentSequence: null, blacklistIPs: null, blockHostnames: null,
};
export default function () {}
