/* SPDX-License-Identifier: GPL-2.0-only */
/* What the unit that carries the module's BTF offers to the others. */
#ifndef _MPTCP_DPA_BTF_GLUE_H
#define _MPTCP_DPA_BTF_GLUE_H

/* struct mptcp_sched_ops whose members are the stubs programs are checked by */
void *glue_sched_stubs(void);

/* sets of kfunc ids (struct btf_id_set8), one per hook */
void *glue_sched_kfuncs(void);
void *glue_sockopt_kfuncs(void);

#endif
