export const options = { tlsAuth: [{ domains: ['a.example'], cert: 'not a certificate' }] };
export default function () {}
