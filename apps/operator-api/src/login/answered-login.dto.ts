import { OmitType } from '@nestjs/swagger';
import type { AnsweredLogin } from '@rollcall/wire';
import { AnsweredCodeDto } from '../code/answered-code.dto.js';

export class AnsweredLoginDto extends OmitType(AnsweredCodeDto, ['replaces'] as const) implements AnsweredLogin {}
