export const options = { localIPs: '192.168.0.1-192.168.0.5,10.0.0.0/30' };
export default function () {}
