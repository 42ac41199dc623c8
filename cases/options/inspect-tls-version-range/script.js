export const options = { tlsVersion: { min: 'tls1.1', max: 'tls1.3' } };
export default function () {}
