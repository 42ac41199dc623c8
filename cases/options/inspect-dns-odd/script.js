export const options = { dns: { ttl: '0', select: 'first' } };
export default function () {}
