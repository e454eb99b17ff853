import { OmitType } from '@nestjs/swagger';
import { EnrolmentDto } from '../enrol/enrol.dto.js';

/** Who joins with the credential that it presents. Nothing in the body is a right to anything (O5). */
export class RedeemPreadmissionDto extends OmitType(EnrolmentDto, ['token', 'credentialHash'] as const) {}
