export const options = { duration: '' };
export default function () {}
