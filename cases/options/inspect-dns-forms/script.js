export const options = { dns: { ttl: '1m', select: 'roundRobin', policy: 'any' } };
export default function () {}
