export const options = { blacklistIPs: ['10.0.0.0/99'] };
export default function () {}
