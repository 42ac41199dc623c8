export const options = { blacklistIPs: ['10.0.0.0/8', '192.168.1.1/32', 'fe80::/10'] };
export default function () {}
