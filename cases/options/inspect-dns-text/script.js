export const options = { dns: 'ttl=5m,select=first' };
export default function () {}
