export const options = { stages: [{}], vus: 2 };
export default function () { console.log(1); }
