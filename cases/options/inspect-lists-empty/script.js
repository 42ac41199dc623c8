export const options = {
  cloud: {}, ext: {}, tlsAuth: [], hosts: {}, tags: {}, thresholds: {}, summaryTrendStats: [], blacklistIPs: [], blockHostnames: [],
};
export default function () {}
