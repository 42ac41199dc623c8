export const options = { tlsVersion: 'tls1.2' };
export default function () {}
