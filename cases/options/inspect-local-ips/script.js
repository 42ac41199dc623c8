export const options = { localIPs: '127.0.0.1-127.0.0.4' };
export default function () {}
